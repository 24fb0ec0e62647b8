-- Views of ads, counted by campaign in tumbling windows of ten seconds. As in the original benchmark an open window is
-- told each second: a row replaces earlier ones of its campaign and window.
SET 'pipeline.global-job-parameters' = 'campaigns:${campaigns}';

-- Within a partition event time never goes back: no event is late, and a window is complete once the next one begins.
CREATE TEMPORARY TABLE events (
    ad_id STRING,
    event_type STRING,
    event_time BIGINT,
    occurred AS TO_TIMESTAMP_LTZ(event_time, 3),
    WATERMARK FOR occurred AS occurred - INTERVAL '0.001' SECOND
) WITH ('format' = 'json') LIKE read_topic;

CREATE TEMPORARY TABLE counts (
    campaign_id STRING,
    window_start BIGINT,
    `count` BIGINT,
    event_time BIGINT
) WITH ('key.fields' = 'campaign_id;window_start') LIKE written_topic;

CREATE TEMPORARY VIEW worked AS
SELECT ad_id, WORK(event_type, CAST(${work_ns} AS BIGINT)) AS event_type, event_time, occurred FROM events;

CREATE TEMPORARY VIEW viewed AS
SELECT LOOKUP('campaigns', ad_id) AS campaign_id, event_time, occurred FROM worked WHERE event_type = 'view';

-- A second without a view of the campaign changes nothing and tells nothing.
INSERT INTO counts
SELECT
    campaign_id,
    EXTRACT(EPOCH FROM window_start) * 1000,
    COUNT(*),
    MAX(event_time)
FROM TABLE(CUMULATE(TABLE viewed, DESCRIPTOR(occurred), INTERVAL '1' SECOND, INTERVAL '10' SECOND))
WHERE campaign_id IS NOT NULL
GROUP BY window_start, window_end, campaign_id
HAVING MAX(event_time) >= EXTRACT(EPOCH FROM window_end) * 1000 - 1000;
