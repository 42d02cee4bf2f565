package dev.latchkey;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Runs tests one after the other, and prints those that fail. */
final class Suite {
    /** A test; every exception is a failure. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    private final List<String> failed = new ArrayList<>();
    private int passed;

    void test(String name, Body body) {
        try {
            body.run();
            passed++;
        } catch (Exception | AssertionError error) {
            failed.add(name);
            System.err.println("FAILED: " + name);
            error.printStackTrace();
        }
    }

    static void equal(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) throw new AssertionError("expected " + expected + ", but was " + actual);
    }

    static void isTrue(boolean condition, String what) {
        if (!condition) throw new AssertionError(what);
    }

    /** Prints the numbers. @return whether all passed */
    boolean finish() {
        System.out.println(passed + " passed, " + failed.size() + " failed" + (failed.isEmpty() ? "" : ": " + String.join(", ", failed)));
        return failed.isEmpty() && passed > 0;
    }
}
