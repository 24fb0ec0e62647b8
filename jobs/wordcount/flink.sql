-- Running counts of words. All occurrences of a word go to one worker, uncounted: a hot word makes a hot worker.
-- A word is told at most once in so much time, however often it comes.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '500 ms';
SET 'table.exec.mini-batch.size' = '20000';

CREATE TEMPORARY TABLE lines (
    line STRING,
    event_time TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'
) WITH ('format' = 'raw') LIKE read_topic;

CREATE TEMPORARY TABLE counts (
    word STRING,
    `count` BIGINT,
    event_time BIGINT,
    PRIMARY KEY (word) NOT ENFORCED
) WITH ('connector' = 'upsert-kafka') LIKE written_topic (OVERWRITING OPTIONS);

CREATE TEMPORARY VIEW worked AS
SELECT
    WORK(line, CAST(${work_ns} AS BIGINT)) AS line,
    EXTRACT(EPOCH FROM event_time) * 1000 + EXTRACT(MILLISECOND FROM event_time) AS event_time
FROM lines;

INSERT INTO counts
SELECT word, COUNT(*), MAX(event_time)
FROM worked CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word)
GROUP BY word;
