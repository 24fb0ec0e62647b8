"""What dstat would show on the machines of a simulated job, derived from the plant's truth when somebody asks.

FLAS estimates throughput and response time from low-level metrics alone. Its section 5.2 says which of them tell most:
free memory, context switches and network bytes for throughput; the share of memory in use, because events that wait sit
in it, and less so context switches, for response time. The model has these relations; its figures stand in `HOST`.

Reference
---------
Rampérez, Soriano, Lizcano, Lara: FLAS: a combination of proactive and reactive auto-scaling architecture for
distributed services. Sections 5.2 (metrics and relations) and 6 (the machine).
"""

from infra.simulated.host.constants import HOST
from infra.simulated.host.machine import HostInputs
from infra.simulated.host.metrics import METRICS, Host, HostMetrics, Metric

__all__ = ["HOST", "METRICS", "Host", "HostInputs", "HostMetrics", "Metric"]
