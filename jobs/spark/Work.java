package tidebed.spark;

import org.apache.spark.sql.api.java.UDF2;
import tidebed.Steps;

/** WORK(value, ns): the value again, after so many nanoseconds' worth of arithmetic; the same steps as on Flink. */
public final class Work implements UDF2<String, Long, String> {
    private long sponge;

    @Override
    public String call(String value, Long ns) {
        sponge = Steps.take(sponge, ns);
        return value;
    }
}
