-- Average speed of each vehicle near the point of interest in tumbling windows of ten seconds, with what is known of the
-- vehicle. An open window is told each second: a row replaces earlier ones of its vehicle and window.
SET 'pipeline.global-job-parameters' = 'kinds:${kinds},limits:${limits}';

-- Within a partition event time never goes back: no event is late, and a window is complete once the next one begins.
CREATE TEMPORARY TABLE events (
    vehicle STRING,
    event_time BIGINT,
    lat DOUBLE,
    lon DOUBLE,
    speed BIGINT,
    occurred AS TO_TIMESTAMP_LTZ(event_time, 3),
    WATERMARK FOR occurred AS occurred - INTERVAL '0.001' SECOND
) WITH ('format' = 'json') LIKE read_topic;

CREATE TEMPORARY TABLE speeds (
    vehicle STRING,
    window_start BIGINT,
    average_speed DOUBLE,
    events BIGINT,
    event_time BIGINT,
    kind STRING,
    speeding BOOLEAN
) WITH ('key.fields' = 'vehicle;window_start') LIKE written_topic;

CREATE TEMPORARY VIEW worked AS
SELECT vehicle, event_time, occurred, WORK(lat, CAST(${work_ns} AS BIGINT)) AS lat, lon, speed FROM events;

CREATE TEMPORARY VIEW placed AS
SELECT
    vehicle,
    event_time,
    occurred,
    speed,
    (lat - ${latitude}) * ${metres_a_degree} AS north,
    (lon - ${longitude}) * ${metres_a_degree_east} AS east
FROM worked;

CREATE TEMPORARY VIEW near AS
SELECT vehicle, event_time, occurred, speed FROM placed
WHERE north * north + east * east <= ${radius_m} * ${radius_m};

-- A second without an event of the vehicle changes nothing and tells nothing.
CREATE TEMPORARY VIEW averages AS
SELECT
    vehicle,
    EXTRACT(EPOCH FROM window_start) * 1000 AS window_start,
    CAST(SUM(speed) AS DOUBLE) / COUNT(*) AS average_speed,
    COUNT(*) AS events,
    MAX(event_time) AS event_time
FROM TABLE(CUMULATE(TABLE near, DESCRIPTOR(occurred), INTERVAL '1' SECOND, INTERVAL '10' SECOND))
GROUP BY window_start, window_end, vehicle
HAVING MAX(event_time) >= EXTRACT(EPOCH FROM window_end) * 1000 - 1000;

INSERT INTO speeds
SELECT
    vehicle,
    window_start,
    average_speed,
    events,
    event_time,
    LOOKUP('kinds', vehicle),
    average_speed > CAST(LOOKUP('limits', vehicle) AS BIGINT)
FROM averages;
