package tidebed.flink;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/** Submits a SQL script: SET, CREATE and one INSERT (or a statement set), each ended by a semicolon at a line's end. */
public final class SqlRunner {
    private static final Pattern SET =
            Pattern.compile("SET\\s+'([^']+)'\\s*=\\s*'([^']*)'", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private SqlRunner() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2 || !arguments[0].equals("--script")) {
            throw new IllegalArgumentException("usage: SqlRunner --script FILE");
        }
        String script = Files.readString(Path.of(arguments[1])).replaceAll("(?m)^\\s*--.*$", "");
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        for (String statement : script.split(";\\s*(\\n|$)")) {
            if (statement.isBlank()) {
                continue;
            }
            Matcher setting = SET.matcher(statement.strip());
            if (setting.matches()) {
                tables.getConfig().set(setting.group(1), setting.group(2));
            } else {
                tables.executeSql(statement);
            }
        }
    }
}
