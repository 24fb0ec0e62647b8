package tidebed;

/** Work that takes the same number of steps wherever it is done. */
public final class Steps {
    /** A multiplication and an addition that wait for each other: 4 cycles, 4/3 ns at 3 GHz. */
    private static final double PER_NS = 0.75;

    private Steps() {}

    /** So many nanoseconds' worth; where it began and where it ended must be kept, or a compiler leaves it out. */
    public static long take(long start, long ns) {
        long steps = (long) (ns * PER_NS);
        long x = start;
        for (long i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + i;
        }
        return x;
    }
}
