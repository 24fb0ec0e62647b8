"""Yahoo Streaming Benchmark: views of ads, counted per campaign in ten-second windows."""

from jobs.model import Job, Operator
from jobs.yahoo.profile import FLINK_OPERATOR, FLINK_REACTIVE, SPARK

JOB = Job(
    name="yahoo",
    title="Yahoo Streaming Benchmark",
    about="ad events are filtered, joined with their campaign and counted in windows of ten seconds",
    reference="Chintapalli et al. 2016; Pfister et al. 2024 (Daedalus), section 4.1.2",
    event="an ad event in JSON",
    topology=(
        Operator("source", selectivity=1.0),
        Operator("filter", selectivity=1 / 3),
        Operator("join", selectivity=1.0),
        Operator("count", selectivity=0.01, keyed=True),
        Operator("sink", selectivity=0.0),
    ),
    profiles={profile.engine.name: profile for profile in (FLINK_REACTIVE, FLINK_OPERATOR, SPARK)},
)
