"""WordCount: the running number of occurrences of each word."""

from jobs.model import Job, Operator
from jobs.wordcount.e2df import WORDCOUNT as E2DF
from jobs.wordcount.profile import FLINK_OPERATOR, FLINK_REACTIVE, KAFKA_STREAMS, SPARK

JOB = Job(
    name="wordcount",
    title="WordCount",
    about="lines are split into words, each word is counted; frequent words make hot workers",
    reference="Pfister et al. 2024 (Daedalus), section 4.1.1",
    event="a line of text",
    topology=(
        Operator("source", selectivity=1.0),
        Operator("split", selectivity=5.0),
        Operator("count", selectivity=1.0, keyed=True),
        Operator("sink", selectivity=0.0),
    ),
    profiles={profile.engine.name: profile for profile in (FLINK_REACTIVE, FLINK_OPERATOR, KAFKA_STREAMS, SPARK, E2DF)},
)
