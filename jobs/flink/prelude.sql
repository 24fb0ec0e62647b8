-- What all jobs share: read before each job's own script.
SET 'pipeline.name' = '${job}';
SET 'execution.checkpointing.mode' = 'EXACTLY_ONCE';
SET 'execution.checkpointing.interval' = '${checkpoint_ms} ms';
SET 'table.local-time-zone' = 'UTC';
SET 'pipeline.object-reuse' = 'true';
-- All events of a key go to one worker, one by one: a hot key makes a hot worker.
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';

CREATE TEMPORARY FUNCTION WORK AS 'tidebed.flink.Work';
CREATE TEMPORARY FUNCTION LOOKUP AS 'tidebed.flink.Lookup';

-- Where events come from and results go to; a job's tables are like these, with columns and formats of their own.
CREATE TEMPORARY TABLE read_topic WITH (
    'connector' = 'kafka',
    'topic' = '${input}',
    'properties.bootstrap.servers' = '${broker}',
    'properties.group.id' = '${group}',
    'properties.max.partition.fetch.bytes' = '262144',
    'scan.startup.mode' = 'earliest-offset',
    'scan.topic-partition-discovery.interval' = '0'
);

CREATE TEMPORARY TABLE written_topic WITH (
    'connector' = 'kafka',
    'topic' = '${output}',
    'properties.bootstrap.servers' = '${broker}',
    'key.format' = 'json',
    'value.format' = 'json'
);

