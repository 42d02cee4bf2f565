import dev.latchkey.Latchkey;
import dev.latchkey.Latchkey.Machine;
import dev.latchkey.Latchkey.Result;
import dev.latchkey.Latchkey.State;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

/** A program with a license: {@code java Example help} lists what it does. */
public final class Example {
    // Compile in the document of /.well-known/jwks.json of your service.
    private static final String PUBLIC_KEYS = "{\"keys\":[]}";

    private final Latchkey latchkey;

    private Example(Latchkey latchkey) {
        this.latchkey = latchkey;
    }

    public static void main(String[] arguments) {
        String service = setting("LICENSE_SERVICE", "http://127.0.0.1:8080");
        Path home = Path.of(System.getProperty("user.home"), ".example-program");
        Latchkey.Options options = new Latchkey.Options()
            .service(service)
            .issuer(setting("LICENSE_ISSUER", service))
            .products("personal", "sellers")
            .publicKeys(PUBLIC_KEYS)
            .folder(Path.of(setting("LICENSE_FOLDER", home.toString())))
            .appVersion("1.0.0")
            .onProblem(problem -> System.err.println(problem.code() + ": " + problem.message()));
        try (Latchkey latchkey = Latchkey.open(options)) {
            String command = arguments.length > 0 ? arguments[0] : "state";
            new Example(latchkey).run(command, arguments.length > 1 ? arguments[1] : "");
        }
    }

    private static String setting(String name, String otherwise) {
        return System.getenv().getOrDefault(name, otherwise);
    }

    private void run(String command, String argument) {
        Map<String, Consumer<String>> commands = Map.of(
            "state", none -> System.out.println(describe(latchkey.state())),
            "activate", key -> report(latchkey.activate(key)),
            "trial", none -> report(latchkey.startTrial()),
            "check", none -> report(latchkey.check()),
            "machines", none -> list(latchkey.machines()),
            "move", activationId -> report(latchkey.moveHere(activationId)),
            "deactivate", none -> report(latchkey.deactivate()),
            "explain", none -> System.out.print(latchkey.explain()));
        Consumer<String> help = none -> System.out.println("Commands: activate KEY, check, deactivate, explain, machines, move ID, state, trial");
        commands.getOrDefault(command, help).accept(argument);
    }

    private void report(Result result) {
        if (result.ok()) System.out.println(describe(latchkey.state()));
        else if (result.cause() != null) System.out.println("No answer of the service: " + result.cause() + ".");
        else System.out.println("Refused: " + result.code() + ".");
    }

    private void list(Result result) {
        if (!result.ok()) report(result);
        for (Machine machine : result.machines()) {
            String status = machine.isActive() ? "active" : "free";
            System.out.println(machine.activationId() + "  " + status + (machine.isThis() ? "  (this one)" : ""));
        }
    }

    private static String describe(State state) {
        return switch (state.kind()) {
            case LICENSED -> "Licensed: " + state.tier() + ". Runs without a network for " + state.daysLeft() + " days.";
            case TRIAL -> "Trial: " + state.daysLeft() + " days left.";
            case NONE -> state.reason().equals("not_activated") ? "No license yet: activate KEY, or trial." : "May not run: " + state.reason() + ".";
            case ENDED, REFUSED -> "May not run: " + state.reason() + ".";
        };
    }
}
