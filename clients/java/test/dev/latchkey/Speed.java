package dev.latchkey;

import static dev.latchkey.Suite.*;

import dev.latchkey.Latchkey.*;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** How long a program waits for its state. Other programs disturb a measurement, so that the best of many counts. */
final class Speed {
    static double bestMs(int times, Runnable work) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            work.run();
            best = Math.min(best, System.nanoTime() - start);
        }
        return best / 1e6;
    }

    /** Opens a client once, in a virtual machine that has compiled nothing of it yet, and prints how long that took. */
    public static void main(String[] arguments) throws IOException {
        Options options = new World(Path.of(arguments[0])).options();
        System.out.print(bestMs(1, () -> equal(Latchkey.open(options).state().kind(), Kind.LICENSED)));
    }

    private static String openInNewProcess(World world) throws IOException {
        Process process = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path"), Speed.class.getName(),
            world.folder.toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        return new String(process.getInputStream().readAllBytes());
    }

    static void addTo(Suite suite) {
        suite.test("the state is ready from disk in less than 5 ms, and an offline check takes less than 1 ms", () -> {
            World world = new World();
            world.openActivated();
            Options options = world.options();
            double first = Double.parseDouble(openInNewProcess(world));
            double open = bestMs(200, () -> equal(Latchkey.open(options).state().kind(), Kind.LICENSED));
            Latchkey client = Latchkey.open(options);
            double check = bestMs(200, () -> equal(client.has("gpu"), true));
            System.out.println(String.format(Locale.ROOT, "open: %.0f ms in a new process, %.2f ms in one that runs; check: %.4f ms", first, open, check));
            isTrue(open < 5, "opening takes " + open + " ms");
            isTrue(check < 1, "an offline check takes " + check + " ms");
        });
    }
}
