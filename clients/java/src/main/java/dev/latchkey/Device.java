package dev.latchkey;

import dev.latchkey.Latchkey.*;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.*;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

import static java.nio.charset.StandardCharsets.UTF_8;

/** What a client needs of the computer: the network, files, and the identity of the machine. */
final class Device {
    private Device() {}

    static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "latchkey");
        thread.setDaemon(true);
        return thread;
    }

    // The network.

    /** Sends with a client that is created at the first request, because that takes longer than reading the state. */
    static Transport transport() {
        return new Transport() {
            private Transport sender;

            @Override
            public synchronized Reply send(URI uri, String body, Duration timeout) throws Exception {
                if (sender == null) sender = over(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build());
                return sender.send(uri, body, timeout);
            }
        };
    }

    static Transport over(HttpClient client) {
        if (client.followRedirects() != HttpClient.Redirect.NEVER) throw new IllegalArgumentException("the client must not follow redirects");
        return (uri, body, timeout) -> {
            HttpRequest.Builder request = HttpRequest.newBuilder(uri).header("content-type", "application/json");
            if (body != null) request.POST(HttpRequest.BodyPublishers.ofString(body));
            CompletableFuture<HttpResponse<byte[]>> arriving = client.sendAsync(request.build(), info -> new LimitedBody());
            try {
                HttpResponse<byte[]> response = arriving.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
                Map<String, String> headers = new TreeMap<>();
                response.headers().map().forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
                return new Reply(response.statusCode(), headers, response.body());
            } finally {
                arriving.cancel(true);
            }
        };
    }

    /** Collects a body, and ends the connection behind the limit. */
    private static final class LimitedBody implements HttpResponse.BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
        private final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private Flow.Subscription subscription;

        @Override
        public CompletionStage<byte[]> getBody() {
            return whole;
        }

        @Override
        public void onSubscribe(Flow.Subscription begun) {
            subscription = begun;
            begun.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer each : buffers) {
                byte[] bytes = new byte[each.remaining()];
                each.get(bytes);
                received.writeBytes(bytes);
            }
            if (received.size() <= Rules.Answer.MAX_BODY_BYTES) return;
            subscription.cancel();
            onComplete();
        }

        @Override
        public void onError(Throwable error) {
            whole.completeExceptionally(error);
        }

        @Override
        public void onComplete() {
            whole.complete(received.toByteArray());
        }
    }

    /** Finds why a request failed. */
    static Cause findCause(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            String message = String.valueOf(each.getMessage());
            if (each instanceof UnknownHostException || each instanceof UnresolvedAddressException) return Cause.DNS;
            if (each instanceof SSLException || each instanceof CertificateException) return Cause.TLS;
            if (each instanceof TimeoutException || each instanceof HttpTimeoutException) return Cause.TIMEOUT;
            if (message.matches("(?is).*(?:proxy|tunnel).*")) return Cause.PROXY;
        }
        return Cause.CONNECTION;
    }

    /** Returns names and messages of an error and of what caused it. */
    static String describe(Throwable error) {
        List<String> texts = new ArrayList<>();
        for (Throwable each = error; each != null && texts.size() < 5; each = each.getCause()) texts.add(each.toString());
        return String.join("; ", texts);
    }

    /** The addresses of this computer: a change means another network, or the return of one. Null: they are not known. */
    static String describeNetwork() {
        try {
            return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses).filter(each -> !each.isLoopbackAddress())
                .map(InetAddress::getHostAddress).sorted().collect(Collectors.joining(" "));
        } catch (IOException | RuntimeException forbidden) {
            return null;
        }
    }

    static boolean isWebAddress(String text) {
        try {
            return text.matches("https?:.*") && new URI(text).getHost() != null;
        } catch (URISyntaxException noUri) {
            return false;
        }
    }

    /** Whether keys that arrive from an address are trusted: https, or this computer. */
    static boolean isTrustworthy(String service) {
        URI uri = URI.create(service);
        return uri.getScheme().equals("https") || uri.getHost().matches("localhost|127(?:\\.\\d+){3}|\\[::1\\]");
    }

    static String escape(String text) {
        return URLEncoder.encode(text, UTF_8).replace("+", "%20");
    }

    // Files.

    /** Returns the content of a file; empty if it does not exist. @throws IOException if it cannot be read */
    static Optional<byte[]> readFile(Path path) throws IOException {
        try {
            return retry(() -> Optional.of(Files.readAllBytes(path)));
        } catch (NoSuchFileException none) {
            return Optional.empty();
        }
    }

    /** Writes a file beside, flushes it, and renames it, so that a process that is killed leaves the old one or the new one. */
    static Path replaceFile(Path path, String text) throws IOException {
        Path temporary = path.resolveSibling(path.getFileName() + "." + ProcessHandle.current().pid() + "." + UUID.randomUUID() + ".tmp");
        Files.createDirectories(path.getParent());
        try {
            if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
                Files.createFile(temporary, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
            // No channel, because the interruption of a thread would close it.
            try (FileOutputStream file = new FileOutputStream(temporary.toFile())) {
                file.write(text.getBytes(UTF_8));
                file.getFD().sync();
            }
            return retry(() -> Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING));
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** More than writing takes, and than the clocks of a network differ. */
    private static final Duration TEMPORARY_LIFETIME = Duration.ofHours(1);

    /** Removes the temporary files that killed programs left. Nothing is lost if they stay. */
    static void removeOldTemporaries(Path folder) {
        try (DirectoryStream<Path> temporaries = Files.newDirectoryStream(folder, "license.json.*.tmp")) {
            for (Path each : temporaries) {
                Instant written = Files.getLastModifiedTime(each).toInstant();
                if (written.isBefore(Instant.now().minus(TEMPORARY_LIFETIME))) Files.deleteIfExists(each);
            }
        } catch (IOException | DirectoryIteratorException unreadable) {
            // The folder does not exist yet, or another program removes them at the same time.
        }
    }

    /** Work with files. */
    @FunctionalInterface
    interface FileWork<T> {
        T run() throws IOException;
    }

    /** Tries again within 200 ms: a virus scanner may hold a file, or too many files be open, for a moment. */
    static <T> T retry(FileWork<T> work) throws IOException {
        for (int tries = 1;; tries++) {
            try {
                return work.run();
            } catch (IOException failure) {
                if (tries == 5 || failure instanceof NoSuchFileException) throw failure;
                LockSupport.parkNanos(tries * 20_000_000L);
            }
        }
    }

    // The identity of the machine.

    /** Where readings come from. Both return an empty text if they fail. */
    interface Sources {
        String run(String... command);

        String read(String path);
    }

    static final Sources OWN_SOURCES = new Sources() {
        @Override
        public String run(String... command) {
            try {
                Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
                try {
                    boolean hasEnded = process.waitFor(5, TimeUnit.SECONDS) && process.exitValue() == 0;
                    return hasEnded ? new String(process.getInputStream().readAllBytes(), UTF_8) : "";
                } finally {
                    process.destroyForcibly();
                }
            } catch (InterruptedException interruption) {
                Thread.currentThread().interrupt();
                return "";
            } catch (IOException | RuntimeException forbidden) {
                return "";
            }
        }

        @Override
        public String read(String path) {
            try {
                return Files.readString(Path.of(path));
            } catch (IOException | RuntimeException unreadable) {
                return "";
            }
        }
    };

    static Map<String, Object> readMachine() {
        String root = System.getenv().getOrDefault("SystemRoot", "C:\\Windows");
        return readMachine(System.getProperty("os.name", ""), root, OWN_SOURCES);
    }

    /** Reads the identity of a machine without a shell; null if it has none. */
    static Map<String, Object> readMachine(String system, String systemRoot, Sources sources) {
        if (system.startsWith("Windows")) {
            // The full path, because a folder of the user may precede in PATH; /reg:64, because a 32-bit program would read another part.
            return named(readRegistryOutput(sources.run(systemRoot + "\\System32\\reg.exe", "query", "HKLM\\SOFTWARE\\Microsoft\\Cryptography",
                "/v", "MachineGuid", "/reg:64")));
        }
        if (system.startsWith("Mac")) return named(readIoregOutput(sources.run("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")));
        String id = readMachineIdFile(sources.read("/etc/machine-id"));
        if (id == null) id = readMachineIdFile(sources.read("/var/lib/dbus/machine-id"));
        Map<String, Object> machine = named(id);
        String serial = sources.read("/sys/class/dmi/id/board_serial").strip();
        if (machine != null && !PLACEHOLDER.matcher(serial).matches()) machine.put("board_serial", serial);
        return machine;
    }

    private static Map<String, Object> named(String machineId) {
        return machineId == null ? null : Rules.fields("machine_id", machineId);
    }

    /** What vendors of boards write instead of a number. */
    private static final Pattern PLACEHOLDER = Pattern.compile("(?i)default string|to be filled by o\\.e\\.m\\.?|not (?:specified|applicable|available)"
        + "|none|n/a|system serial number|board serial number|0+|x+|[-. ]*");
    private static final Pattern REGISTRY_VALUE = Pattern.compile("(?m)^[ \\t]*MachineGuid[ \\t]+REG_SZ[ \\t]+([\\w{}-]+)[ \\t]*\\r?$");
    private static final Pattern PLATFORM_UUID = Pattern.compile("\"IOPlatformUUID\" = \"([\\w-]+)\"");

    /** Reads what {@code reg.exe query} prints, in any language of Windows. */
    static String readRegistryOutput(String output) {
        return findFirst(REGISTRY_VALUE, output);
    }

    static String readIoregOutput(String output) {
        return findFirst(PLATFORM_UUID, output);
    }

    private static String findFirst(Pattern pattern, String output) {
        Matcher found = pattern.matcher(output);
        return found.find() ? found.group(1) : null;
    }

    /** Reads a machine id: 32 hexadecimal digits; null for anything else, such as {@code uninitialized} of an image. */
    static String readMachineIdFile(String text) {
        String id = text.strip().toLowerCase(Locale.ROOT);
        return id.matches("[0-9a-f]{32}") && !id.matches("0+") ? id : null;
    }
}
