"""Campaigns as Airflow tasks. Beside dags/ the only code that imports airflow."""
