package tidebed.spark;

import org.apache.spark.sql.api.java.UDF2;

/** WORK(value, ns): the value again, after so many nanoseconds' worth of arithmetic; the same steps as on Flink. */
public final class Work implements UDF2<String, Long, String> {
    private static final double STEPS_PER_NS = 0.75;

    private long sponge;

    @Override
    public String call(String value, Long ns) {
        long steps = (long) (ns * STEPS_PER_NS);
        long x = sponge;
        for (long i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + i;
        }
        sponge = x;
        return value;
    }
}
