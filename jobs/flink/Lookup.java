package tidebed.flink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;

/** LOOKUP(table, key): from a table that came with the job, as its parameter "key=value key=value ..."; else null. */
public final class Lookup extends ScalarFunction {
    private transient FunctionContext context;
    private transient Map<String, Map<String, String>> tables;

    @Override
    public void open(FunctionContext context) {
        this.context = context;
        this.tables = new HashMap<>();
    }

    public String eval(String table, String key) {
        return tables.computeIfAbsent(table, this::read).get(key);
    }

    private Map<String, String> read(String table) {
        String text = context.getJobParameter(table, null);
        if (text == null) {
            throw new IllegalArgumentException("the job has no parameter " + table);
        }
        Map<String, String> entries = new HashMap<>();
        for (String entry : text.split(" ")) {
            int end = entry.indexOf('=');
            entries.put(entry.substring(0, end), entry.substring(end + 1));
        }
        return entries;
    }
}
