package dev.latchkey;

import static dev.latchkey.Rules.*;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.latchkey.Latchkey.*;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.*;

/** Answers the commands of the conformance run, one JSON line each, with this client. */
public final class Driver {
    private static final Set<String> REPORTED = Set.of("file_damaged", "folder_unwritable");
    private static final List<String> CALLS =
        List.of("activate", "trial", "check", "machines", "move_here", "deactivate", "offline_request", "accept_offline");

    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private Latchkey client;
    private volatile Long nowMs;

    public static void main(String[] arguments) throws IOException {
        PrintStream output = new PrintStream(System.out, true, UTF_8);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        Driver driver = new Driver();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Map<String, Object> command = object(Json.parse(line));
            output.println(Json.write(driver.answer(command)));
            if ("close".equals(command.get("do"))) return;
        }
    }

    private Object answer(Map<String, Object> command) {
        String name = text(command, "do");
        if (CALLS.contains(name)) {
            Object result = call(name, command);
            Map<String, Object> answer = showState();
            answer.put("result", result);
            return answer;
        }
        return switch (name) {
            case "hello" -> fields("client", "java", "version", Latchkey.VERSION, "supports", CALLS);
            case "open" -> open(command);
            case "clock" -> setClock(command);
            case "state" -> showState();
            case "explain" -> fields("text", client.explain());
            case "verify" -> verify(command);
            case "key" -> read(readKey(text(command, "text")));
            case "clock_steps" -> stepClock((List<?>) command.get("steps"));
            case "fingerprint" -> fields("machine_id", readPrinted(text(command, "source"), text(command, "text")));
            case "close" -> close();
            default -> fields("unsupported", true);
        };
    }

    private Object open(Map<String, Object> command) {
        nowMs = integer(command, "now_ms");
        Options options = new Options()
            .service(text(command, "service"))
            .issuer(text(command, "issuer"))
            .products(texts(command.get("products")).toArray(String[]::new))
            .publicKeys(Json.write(fields("keys", readKeys(command.get("public_keys")))))
            .folder(Path.of(text(command, "folder")))
            .appVersion(text(command, "app_version"))
            .timeout(Duration.ofMillis(integer(command, "timeout_ms")))
            .clock(() -> nowMs == null ? System.currentTimeMillis() : nowMs)
            .onProblem(this::note);
        if (command.get("machine") != null) options.machine(object(command.get("machine")));
        client = Latchkey.open(options);
        return showState();
    }

    private void note(Problem problem) {
        System.err.println(problem.code() + ": " + problem.message());
        if (REPORTED.contains(problem.code())) problems.add(problem.code());
    }

    private Object setClock(Map<String, Object> command) {
        nowMs = integer(command, "now_ms");
        return showState();
    }

    private Object call(String name, Map<String, Object> command) {
        Result result = switch (name) {
            case "activate" -> client.activate(text(command, "key"));
            case "trial" -> client.startTrial();
            case "check" -> client.check(Trigger.valueOf(text(command, "trigger").toUpperCase(Locale.ROOT)));
            case "machines" -> client.machines();
            case "move_here" -> client.moveHere(text(command, "activation_id"));
            case "deactivate" -> client.deactivate();
            case "offline_request" -> client.offlineRequest(text(command, "product"), text(command, "name"));
            default -> client.acceptOffline(text(command, "text"));
        };
        return render(result, name);
    }

    private Map<String, Object> render(Result result, String call) {
        Map<String, Object> shown = fields("ok", result.ok());
        if (!result.ok()) shown.put("code", result.code());
        if (result.cause() != null) shown.put("cause", lower(result.cause()));
        if (result.max() != null) shown.put("max", result.max());
        if (result.current() != null) shown.put("current", result.current());
        if (result.availableAt() != null) shown.put("available_at", result.availableAt());
        if (result.request() != null) shown.put("request", result.request());
        if (result.ok() && call.equals("machines")) shown.put("machines", result.machines().stream().map(Driver::render).toList());
        return shown;
    }

    private static Map<String, Object> render(Machine machine) {
        return fields("activation_id", machine.activationId(), "is_active", machine.isActive(), "is_this", machine.isThis());
    }

    private Map<String, Object> showState() {
        State state = client.state();
        Map<String, Object> shown = fields("may_run", state.mayRun(), "kind", lower(state.kind()), "reason", state.reason(), "tier", state.tier(),
            "features", state.features(), "until", render(state.until()), "days_left", state.daysLeft(),
            "source", state.isAnswered() ? "service" : "kept", "last_answer_at", render(state.lastAnswerAt()),
            "clock_went_back", state.clockWentBack());
        Map<String, Object> answer = fields("state", shown);
        if (!problems.isEmpty()) answer.put("problems", List.copyOf(problems));
        problems.clear();
        return answer;
    }

    private static String render(Instant time) {
        return time == null ? null : time.toString();
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static Object verify(Map<String, Object> command) {
        Trust trust = new Trust(readKeys(command.get("public_keys")), text(command, "issuer"), texts(command.get("products")),
            text(command, "machine_id"));
        return fields("verdict", verifyToken(text(command, "token"), trust, integer(command, "now_ms"), text(command, "nonce")));
    }

    private static Object read(KeyReading reading) {
        boolean isMistyped = reading.verdict().equals("mistyped");
        return fields("key", isMistyped ? null : reading.key(), "verdict", reading.verdict());
    }

    private static Object stepClock(List<?> steps) {
        Clock clock = new Clock(0, 0);
        List<Object> readings = new ArrayList<>();
        for (Object step : steps) {
            Long deviceMs = integer(step, "device_ms"), serviceMs = integer(step, "service_ms");
            if (serviceMs != null) clock = clock.learn(deviceMs, serviceMs);
            readings.add(fields("now_ms", clock.now(deviceMs), "clock_went_back", clock.wentBack(deviceMs)));
        }
        return fields("steps", readings);
    }

    private static String readPrinted(String source, String text) {
        return switch (source) {
            case "machine-id" -> Device.readMachineIdFile(text);
            case "reg.exe" -> Device.readRegistryOutput(text);
            default -> Device.readIoregOutput(text);
        };
    }

    private Object close() {
        if (client != null) client.close();
        return fields();
    }
}
