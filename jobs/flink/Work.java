package tidebed.flink;

import org.apache.flink.table.functions.ScalarFunction;

/** WORK(value, ns): the value again, after so many nanoseconds' worth of arithmetic. */
public final class Work extends ScalarFunction {
    /** A multiplication and an addition that wait for each other: 4 cycles, 4/3 ns at 3 GHz. */
    private static final double STEPS_PER_NS = 0.75;

    private long sponge;

    public String eval(String value, Long ns) {
        burn(ns);
        return value;
    }

    public Double eval(Double value, Long ns) {
        burn(ns);
        return value;
    }

    private void burn(long ns) {
        long steps = (long) (ns * STEPS_PER_NS);
        long x = sponge;
        for (long i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + i;
        }
        sponge = x; // so that no compiler leaves the loop out
    }

    /** Keeps the planner from computing it beforehand, or twice. */
    @Override
    public boolean isDeterministic() {
        return false;
    }
}
