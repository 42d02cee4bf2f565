package dev.latchkey;

import static dev.latchkey.Rules.*;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.latchkey.Latchkey.*;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.*;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** A machine with a folder, a clock, and a service that answers as a test wants. Its tokens are those of the conformance vectors. */
final class World {
    /** Answers a request; what it throws is a failure of the network. */
    @FunctionalInterface
    interface Script {
        Reply answer(String path, Map<String, Object> body) throws Exception;
    }

    static final String KEY = "LK-FXWD4-JFB0X-HF411-XFMTT-GMAD0";
    static final String ACTIVATION = "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e";
    private static final Path VECTORS = Path.of("../conformance/vectors");

    final Path folder;
    final List<String> requests = new CopyOnWriteArrayList<>();
    final List<String> problems = new CopyOnWriteArrayList<>();
    volatile long nowMs = 1_800_000_000_000L;
    volatile Script script = (path, body) -> {
        throw new ConnectException("Connection refused");
    };

    World() throws IOException {
        this(Files.createTempDirectory("latchkey-test-").resolve("kept"));
    }

    World(Path folder) {
        this.folder = folder;
    }

    Options options() {
        Map<String, Object> vector = vector("an entitlement");
        return new Options().service("https://license.example.com").issuer(text(vector, "issuer")).products("studio", "solo")
            .publicKeys(Json.write(fields("keys", vector.get("public_keys")))).folder(folder).appVersion("2.4.0")
            .machine(fields("machine_id", vector.get("machine_id"))).clock(() -> nowMs).onProblem(each -> problems.add(each.code()))
            .transport((uri, body, timeout) -> send(uri, body));
    }

    private Reply send(URI uri, String body) throws Exception {
        requests.add((body == null ? "GET " : "POST ") + uri.getPath());
        return script.answer(uri.getPath(), body == null ? fields() : object(Json.parse(body)));
    }

    Latchkey open() {
        return Latchkey.open(options());
    }

    /** Opens a client, activates it, and forgets the request. */
    Latchkey openActivated() {
        Latchkey client = open();
        script = (path, body) -> activated();
        Suite.equal(client.activate(KEY), Result.OK);
        requests.clear();
        return client;
    }

    /** Replaces the file by a link to itself, which not even root can read. The result moves the file back, and fails if the link was replaced. */
    Suite.Body makeUnreadable() throws IOException {
        Path file = folder.resolve("license.json"), moved = folder.resolve("moved");
        Files.move(file, moved);
        Files.createSymbolicLink(file, file.getFileName());
        return () -> {
            Suite.isTrue(Files.isSymbolicLink(file), "the link was replaced");
            Files.move(moved, file, StandardCopyOption.REPLACE_EXISTING);
        };
    }

    static Reply json(int status, Object body) {
        String type = status < 400 ? "application/json" : "application/problem+json";
        return new Reply(status, Map.of("content-type", type), Json.write(body).getBytes(UTF_8));
    }

    static Reply page(int status) {
        return new Reply(status, Map.of("content-type", "text/html"), "<html>Please sign in</html>".getBytes(UTF_8));
    }

    static Reply activated() {
        return json(200, fields("activation_id", ACTIVATION, "status", "active", "entitlement", token("an entitlement")));
    }

    static Reply validated() {
        return json(200, fields("valid", true, "status", "active", "entitlement", token("an entitlement")));
    }

    static Reply problem(int status, String code) {
        return json(status, fields("status", status, "code", code));
    }

    static String token(String name) {
        return text(vector(name), "token");
    }

    /** Returns the vector of a token, by its name. */
    static Map<String, Object> vector(String name) {
        return vectors("tokens").stream().filter(each -> each.get("name").equals(name)).findFirst().orElseThrow();
    }

    private static final Map<String, List<Map<String, Object>>> READ = new HashMap<>();

    static List<Map<String, Object>> vectors(String file) {
        Function<String, List<Map<String, Object>>> read = name -> ((List<?>) Json.parse(read(VECTORS.resolve(name + ".json")))).stream().map(Rules::object).toList();
        return READ.computeIfAbsent(file, read);
    }

    static String fixture(String name) {
        return read(Path.of("../typescript/test/fixtures", name));
    }

    static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    Map<String, Object> kept() {
        return object(Json.parse(read(folder.resolve("license.json"))));
    }
}
