package tidebed.flink;

import org.apache.flink.table.functions.ScalarFunction;
import tidebed.Steps;

/** WORK(value, ns): the value again, after so many nanoseconds' worth of arithmetic. */
public final class Work extends ScalarFunction {
    private long sponge;

    public String eval(String value, Long ns) {
        sponge = Steps.take(sponge, ns);
        return value;
    }

    public Double eval(Double value, Long ns) {
        sponge = Steps.take(sponge, ns);
        return value;
    }

    /** Keeps the planner from computing it beforehand, or twice. */
    @Override
    public boolean isDeterministic() {
        return false;
    }
}
