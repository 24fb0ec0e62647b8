package org.apache.flink.metrics.prometheus;

import io.prometheus.client.exporter.HTTPServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Properties;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/** Flink's Prometheus reporter, which listens everywhere, on 127.0.0.1 only. Setting: port. */
public final class LoopbackReporterFactory implements MetricReporterFactory {
    @Override
    public MetricReporter createMetricReporter(Properties settings) {
        return new LoopbackReporter(Integer.parseInt(settings.getProperty("port")));
    }

    private static final class LoopbackReporter extends AbstractPrometheusReporter {
        private final HTTPServer server;

        LoopbackReporter(int port) {
            try {
                server = new HTTPServer(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), registry, true);
            } catch (IOException fault) {
                throw new UncheckedIOException("port " + port, fault);
            }
        }

        @Override
        public void close() {
            server.stop();
            super.close();
        }
    }
}
