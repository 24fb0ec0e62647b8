# Tidebed with Airflow, Spark and Java, as a user without privileges.
#   docker build -t tidebed .
#   docker run --rm -v "$PWD/archive:/archive" tidebed run quickstart
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE}

RUN apt-get update \
    && apt-get install -y --no-install-recommends git make openjdk-17-jre-headless python3-pip \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 tidebed \
    && install -d -o tidebed -g tidebed /opt/tidebed /archive

USER tidebed
WORKDIR /opt/tidebed
COPY --chown=tidebed:tidebed . .
RUN ./infra/install.sh && rm -rf /home/tidebed/.cache

ENV PATH=/opt/tidebed/.venv/bin:$PATH TIDEBED_ARCHIVE=/archive
VOLUME /archive
ENTRYPOINT ["tidebed"]
CMD ["--help"]
