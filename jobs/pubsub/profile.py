"""How fast a matcher takes subscriptions, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Profile

E_SILBOPS = Profile(
    engines.E_SILBOPS,
    {
        "worker_capacity": Constant(
            50_000.0, "events/s", "FLAS 2020, section 6.1 brackets it: 80 k/s overload one matcher, two carry them"
        ),
        "scaling_exponent": Constant(0.95, "", "assumed: each matcher adds a little coordination"),
        "key_count": Constant(0, "keys", "FLAS 2020, section 5: state is repartitioned evenly"),
        "key_skew": Constant(0.0, "", "as above"),
        "key_groups": Constant(1, "groups", "as above"),
        "cpu_idle": Constant(0.05, "share", "assumed"),
        "cpu_full": Constant(1.0, "share", "FLAS 2020, section 5.3: the matcher is CPU bound"),
        "memory_base": Constant(0.2, "share", "assumed"),
        "memory_state": Constant(0.4, "share", "assumed: the subscriptions, shared by all matchers"),
        "memory_per_event": Constant(
            1e-6, "share", "assumed: a kB in 1 GB; FLAS 2020, section 5.2: response time shows in the memory in use"
        ),
        "latency_base_s": Constant(0.01, "s", "FLAS 2020, section 6: 10 ms is the lower reactive threshold"),
        "latency_spread": Constant(0.3, "log s", "assumed"),
        "latency_idle_s": Constant(0.0, "s", "no buffers that wait to be full"),
        "latency_idle_load": Constant(1.0, "share", "as above: without effect"),
        "event_bytes_in": Constant(200.0, "bytes", "assumed: a subscription of a few predicates"),
        "event_bytes_out": Constant(200.0, "bytes", "assumed: a notification"),
    },
)
