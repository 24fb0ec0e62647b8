-- Running counts of words. All occurrences of a word go to one worker, uncounted: a hot word makes a hot worker.
SET 'pipeline.name' = 'wordcount';
SET 'execution.checkpointing.mode' = 'EXACTLY_ONCE';
SET 'execution.checkpointing.interval' = '${checkpoint_ms} ms';
SET 'table.local-time-zone' = 'UTC';
SET 'pipeline.object-reuse' = 'true';
-- A word is told at most once in so much time, however often it comes.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '500 ms';
SET 'table.exec.mini-batch.size' = '20000';
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';

CREATE TEMPORARY FUNCTION WORK AS 'tidebed.flink.Work';

CREATE TEMPORARY TABLE lines (
    line STRING,
    event_time TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'
) WITH (
    'connector' = 'kafka',
    'topic' = '${input}',
    'properties.bootstrap.servers' = '${broker}',
    'properties.group.id' = '${group}',
    'properties.max.partition.fetch.bytes' = '262144',
    'scan.startup.mode' = 'earliest-offset',
    'scan.topic-partition-discovery.interval' = '0',
    'format' = 'raw'
);

CREATE TEMPORARY TABLE counts (
    word STRING,
    `count` BIGINT,
    event_time BIGINT,
    PRIMARY KEY (word) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = '${output}',
    'properties.bootstrap.servers' = '${broker}',
    'key.format' = 'json',
    'value.format' = 'json'
);

CREATE TEMPORARY VIEW worked AS
SELECT
    WORK(line, CAST(${work_ns} AS BIGINT)) AS line,
    EXTRACT(EPOCH FROM event_time) * 1000 + EXTRACT(MILLISECOND FROM event_time) AS event_time
FROM lines;

INSERT INTO counts
SELECT word, COUNT(*), MAX(event_time)
FROM worked CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word)
GROUP BY word;
