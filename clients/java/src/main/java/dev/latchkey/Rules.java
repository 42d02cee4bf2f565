package dev.latchkey;

import dev.latchkey.Latchkey.*;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.security.*;
import java.security.spec.*;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The rules that every client follows: entitlements, keys, the clock, what counts as an answer, and JSON. Nothing here reaches outside. */
final class Rules {
    private Rules() {}

    // Entitlements.

    /** What an entitlement must fit. Of two keys with the same id, the first one counts. */
    record Trust(List<Map<String, Object>> keys, String issuer, List<String> products, String machineId) {}

    /** The verdict about an entitlement; its claims if that is {@code ok}, else null. */
    record Reading(String verdict, Map<String, Object> claims) {}

    static final Pattern TOKEN = Pattern.compile("eyJ[\\w-]+\\.eyJ[\\w-]+\\.[\\w-]{86}");

    /** Verifies everything about an entitlement but its times and its nonce, so that the result stays true. */
    static Reading readToken(String token, Trust trust) {
        String[] parts = token.split("\\.", -1);
        Map<String, Object> header = readPart(parts[0]), claims = parts.length == 3 ? readPart(parts[1]) : null;
        byte[] signature = parts.length == 3 ? decode(parts[2]) : null;
        if (signature == null || !isWellFormed(header, claims)) return new Reading("malformed", null);
        if (!"EdDSA".equals(header.get("alg"))) return new Reading("algorithm", null);
        Map<String, Object> key = trust.keys.stream().filter(each -> each.get("kid").equals(header.get("kid"))).findFirst().orElse(null);
        if (key == null) return new Reading("unknown_key", null);
        byte[] signed = (parts[0] + "." + parts[1]).getBytes(UTF_8);
        if (!isSigned(signed, signature, decode(text(key, "x")))) return new Reading("signature", null);
        if (!trust.issuer.equals(text(claims, "iss"))) return new Reading("issuer", null);
        if (!trust.products.contains(String.valueOf(text(claims, "aud")))) return new Reading("audience", null);
        boolean isOurs = hash(trust.machineId).equals(text(claims, "machine"));
        return isOurs ? new Reading("ok", claims) : new Reading("machine", null);
    }

    /** Verifies an entitlement at a time. @param nonce that of the open request of a machine without a connection, or null */
    static String verifyToken(String token, Trust trust, long nowMs, String nonce) {
        Reading reading = readToken(token, trust);
        if (reading.claims == null) return reading.verdict;
        String problem = findTimeProblem(reading.claims, nowMs);
        if (problem != null) return problem;
        return nonce == null || nonce.equals(text(reading.claims, "nonce")) ? "ok" : "nonce";
    }

    /** Returns {@code early}, {@code late} or null. A clock may be five minutes behind that of the service. */
    static String findTimeProblem(Map<String, Object> claims, long nowMs) {
        if (nowMs < (integer(claims, "nbf") - 300) * 1000) return "early";
        return nowMs >= integer(claims, "exp") * 1000 ? "late" : null;
    }

    private static boolean isWellFormed(Map<String, Object> header, Map<String, Object> claims) {
        if (header == null || claims == null) return false;
        boolean isKnown = "entitlement+jwt".equals(header.get("typ")) && header.get("kid") instanceof String && !header.containsKey("crit");
        return isKnown && List.of("iat", "nbf", "exp").stream().allMatch(each -> integer(claims, each) != null);
    }

    /** Returns the JSON object of a part; null if it is none. */
    private static Map<String, Object> readPart(String part) {
        byte[] bytes = decode(part);
        if (bytes == null) return null;
        try {
            return object(Json.parse(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString()));
        } catch (CharacterCodingException noText) {
            return null;
        }
    }

    private static final BigInteger PRIME = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19));
    /** The order of the base point (RFC 8032, section 5.1). */
    private static final BigInteger ORDER = new BigInteger("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed", 16);
    private static final BigInteger ORDER_EIGHT = new BigInteger("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7", 16);
    /** The y-coordinates of the points whose order divides eight: a signature of such a key fits every message. */
    private static final Set<BigInteger> SMALL_ORDERS =
        Set.of(BigInteger.ZERO, BigInteger.ONE, PRIME.subtract(BigInteger.ONE), ORDER_EIGHT, PRIME.subtract(ORDER_EIGHT));

    /** Verifies an Ed25519 signature, with the checks that some versions of Java leave out. */
    private static boolean isSigned(byte[] data, byte[] signature, byte[] publicKey) {
        if (publicKey.length != 32 || signature.length != 64) return false;
        BigInteger y = littleEndian(publicKey).clearBit(255);
        boolean isOdd = publicKey[31] < 0;
        if (y.compareTo(PRIME) >= 0 || SMALL_ORDERS.contains(y)) return false;
        if (littleEndian(Arrays.copyOfRange(signature, 32, 64)).compareTo(ORDER) >= 0) return false;
        try {
            KeySpec key = new EdECPublicKeySpec(NamedParameterSpec.ED25519, new EdECPoint(isOdd, y));
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(key));
            verifier.update(data);
            return verifier.verify(signature);
        } catch (GeneralSecurityException | RuntimeException noPoint) {
            return false;
        }
    }

    private static BigInteger littleEndian(byte[] bytes) {
        byte[] reversed = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) reversed[i] = bytes[bytes.length - 1 - i];
        return new BigInteger(1, reversed);
    }

    /** Reads the Ed25519 keys of a list and ignores its other members. */
    static List<Map<String, Object>> readKeys(Object list) {
        if (!(list instanceof List<?> items)) return List.of();
        return items.stream().filter(Rules::isPublicKey).map(Rules::object).toList();
    }

    private static boolean isPublicKey(Object value) {
        byte[] x = text(value, "x") == null ? null : decode(text(value, "x"));
        return "OKP".equals(text(value, "kty")) && "Ed25519".equals(text(value, "crv")) && text(value, "kid") != null && x != null && x.length == 32;
    }

    /** Returns the base64url SHA-256 of a text. */
    static String hash(String text) {
        try {
            return encode(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Decodes base64url without padding; null unless encoding the bytes again returns the same text. */
    static byte[] decode(String text) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            return !text.isEmpty() && encode(bytes).equals(text) ? bytes : null;
        } catch (IllegalArgumentException noBase64) {
            return null;
        }
    }

    // The clock.

    /** What is known of the service's time: its offset to that of the device, and the latest one, in milliseconds. */
    record Clock(long offsetMs, long latestMs) {
        private static final long MINUTE_MS = 60_000;

        static Clock of(Map<String, Object> kept) {
            Long offsetMs = integer(kept.get("clock"), "offset_ms"), latestMs = integer(kept.get("clock"), "latest_ms");
            return new Clock(offsetMs == null ? 0 : offsetMs, latestMs == null ? 0 : latestMs);
        }

        Map<String, Object> toFields() {
            return fields("offset_ms", offsetMs, "latest_ms", latestMs);
        }

        long now(long deviceMs) {
            return Math.max(deviceMs + offsetMs, latestMs);
        }

        boolean wentBack(long deviceMs) {
            return deviceMs + offsetMs < latestMs - 60 * MINUTE_MS;
        }

        Clock learn(long deviceMs, long serviceMs) {
            long differenceMs = serviceMs - deviceMs;
            return new Clock(Math.abs(differenceMs) < 5 * MINUTE_MS ? 0 : differenceMs, Math.max(latestMs, serviceMs));
        }

        /** Returns the time of an answer: its header {@code Date}, which no signature protects, if that fits the time of issue, else the latter. */
        static long serviceTime(Long dateMs, long issuedMs) {
            return dateMs != null && dateMs >= issuedMs && dateMs <= issuedMs + 65 * MINUTE_MS ? dateMs : issuedMs;
        }
    }

    static String formatTime(long ms) {
        return Instant.ofEpochMilli(ms).toString();
    }

    static Instant parseInstant(String text) {
        try {
            return text == null ? null : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException noTime) {
            return null;
        }
    }

    // License keys that people type.

    /** What to send for a typed key; {@code foreign}: perhaps issued elsewhere, sent as it is; {@code mistyped}: its checksum is wrong. */
    record KeyReading(String key, String verdict) {}

    private static final String ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    private static final Pattern SEPARATORS = Pattern.compile("[\\s\\p{Z}\\uFEFF\\p{Pd}]+");
    private static final Pattern BLANKS_AROUND = Pattern.compile("^[\\s\\p{Z}\\uFEFF]+|[\\s\\p{Z}\\uFEFF]+$");
    private static final Pattern PARTS = Pattern.compile("([A-Za-z0-9]{0,8})([A-Za-z0-9]{25})");

    /** Reads a typed key. A wrong checksum is a typo only if a separator follows the prefix; otherwise it may be the key of another shop. */
    static KeyReading readKey(String text) {
        String typed = BLANKS_AROUND.matcher(text).replaceAll("");
        Matcher parts = PARTS.matcher(SEPARATORS.matcher(typed).replaceAll(""));
        if (!parts.matches()) return new KeyReading(typed, "foreign");
        String prefix = parts.group(1);
        String symbols = parts.group(2).toUpperCase(Locale.ROOT).replace('O', '0').replace('I', '1').replace('L', '1');
        boolean isRight = hasRightChecksum(symbols);
        boolean isOurs = isRight || !prefix.isEmpty() && SEPARATORS.split(typed)[0].equals(prefix);
        if (symbols.contains("U") || !isOurs) return new KeyReading(typed, "foreign");
        String groups = symbols.replaceAll(".{5}(?!$)", "$0-");
        String key = prefix.isEmpty() ? groups : prefix.toUpperCase(Locale.ROOT) + "-" + groups;
        return new KeyReading(key, isRight ? "ok" : "mistyped");
    }

    /** The last two of 25 symbols are the number that the others write, modulo 1021. */
    private static boolean hasRightChecksum(String symbols) {
        int remainder = 0;
        for (char symbol : symbols.substring(0, 23).toCharArray()) remainder = (remainder * 32 + ALPHABET.indexOf(symbol)) % 1021;
        return remainder == ALPHABET.indexOf(symbols.charAt(23)) * 32 + ALPHABET.indexOf(symbols.charAt(24));
    }

    // Answers of the service.

    /**
     * The outcome of a request: an answer has a {@code body}; a refusal a {@code code}, too; everything else changes nothing and has a
     * {@code cause}.
     */
    record Answer(int status, Object body, String code, Cause cause, String detail, Long dateMs, long retryAfterMs) {
        static final Answer OTHER_SHAPE = silent(Cause.PORTAL, "JSON of another shape");
        static final int MAX_BODY_BYTES = 1_000_000;
        private static final Pattern ABOUT_LICENSE = Pattern.compile("(?:license|activation|machine|trial)_.*", Pattern.DOTALL);

        static Answer silent(Cause cause, String detail) {
            return new Answer(0, null, null, cause, detail, null, 0);
        }

        /** Decides what arrived: only JSON of the service's own forms is an answer. */
        static Answer of(Reply reply) {
            int status = reply.status();
            if (status == 429 || status >= 500) {
                return new Answer(status, null, null, Cause.BUSY, "status " + status, null, waitOf(reply.headers().get("retry-after")));
            }
            if (status == 407) return silent(Cause.PROXY, "status 407");
            if (reply.body().length > MAX_BODY_BYTES) return silent(Cause.PORTAL, "more than 1 MB");
            Object body = Json.parse(new String(reply.body(), UTF_8));
            Long dateMs = dateOf(reply.headers().get("date"));
            if (status == 200 && body != null) return new Answer(status, body, null, null, null, dateMs, 0);
            boolean isProblem = String.valueOf(reply.headers().get("content-type")).toLowerCase(Locale.ROOT).startsWith("application/problem+json");
            boolean counts = status >= 400 && (isProblem || Long.valueOf(status).equals(integer(body, "status")));
            if (counts && text(body, "code") != null) return new Answer(status, body, text(body, "code"), null, null, dateMs, 0);
            return silent(Cause.PORTAL, "status " + status + ", not an answer of the service");
        }

        boolean isSuccess() {
            return cause == null && code == null;
        }

        /** Whether it confirms a deactivation. */
        boolean isDone() {
            return isSuccess() && Boolean.TRUE.equals(member(body, "success"));
        }

        /** Whether a refusal is about the license, and not about the path, or of something between. */
        boolean isAboutLicense() {
            return code != null && (status == 403 || status == 404) && ABOUT_LICENSE.matcher(code).matches();
        }

        private static long waitOf(String header) {
            boolean isNumber = header != null && header.matches("\\d{1,9}");
            return isNumber ? Math.min(Long.parseLong(header), 86_400) * 1000 : 0;
        }

        private static Long dateOf(String header) {
            try {
                return header == null ? null : Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(header)).toEpochMilli();
            } catch (DateTimeException noDate) {
                return null;
            }
        }
    }

    // Values of JSON: Map, List, String, Double, Boolean, or null.

    /** Creates an object from names and values in turn. */
    static Map<String, Object> fields(Object... pairs) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) fields.put((String) pairs[i], pairs[i + 1]);
        return fields;
    }

    /** Returns a value if it is an object, else null. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, Object>) map : null;
    }

    /** Returns a member of an object; null if there is none, or if the value is no object. */
    static Object member(Object value, String name) {
        return value instanceof Map<?, ?> map ? map.get(name) : null;
    }

    static String text(Object value, String name) {
        return member(value, name) instanceof String text ? text : null;
    }

    /** Returns a member that is a whole and exact number, else null. */
    static Long integer(Object value, String name) {
        boolean isWhole = member(value, name) instanceof Number number && number.doubleValue() == Math.rint(number.doubleValue())
            && Math.abs(number.doubleValue()) <= 9_007_199_254_740_991d;
        return isWhole ? Long.valueOf(((Number) member(value, name)).longValue()) : null;
    }

    /** Returns the texts of a list. */
    static List<String> texts(Object list) {
        return list instanceof List<?> items ? items.stream().filter(String.class::isInstance).map(String.class::cast).toList() : List.of();
    }

    /** Reads a fingerprint: texts and lists of texts; null without a {@code machine_id}. */
    static Map<String, Object> readFingerprint(Object value) {
        String machineId = text(value, "machine_id");
        if (machineId == null || machineId.isEmpty()) return null;
        Map<String, Object> parts = new LinkedHashMap<>(object(value));
        parts.values().removeIf(each -> !(each instanceof String) && !(each instanceof List<?> list && texts(list).size() == list.size()));
        return parts;
    }

    /** Parses and writes JSON (RFC 8259). */
    static final class Json {
        private static final int MAX_DEPTH = 200;
        private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9]\\d*+)(?:\\.\\d++)?(?:[eE][+-]?\\d++)?");
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        /** Returns a value; null if the text is not JSON, or if it is {@code null}. */
        static Object parse(String text) {
            try {
                Json json = new Json(text);
                Object value = json.readValue(0);
                return json.at == text.length() ? value : null;
            } catch (IllegalArgumentException | IndexOutOfBoundsException noJson) {
                return null;
            }
        }

        private Object readValue(int depth) {
            if (depth > MAX_DEPTH) throw new IllegalArgumentException("too deep");
            skipBlanks();
            char first = text.charAt(at);
            Object value = switch (first) {
                case '{' -> readObject(depth);
                case '[' -> readList(depth);
                case '"' -> readText();
                case 't' -> readWord("true", true);
                case 'f' -> readWord("false", false);
                case 'n' -> readWord("null", null);
                default -> readNumber();
            };
            skipBlanks();
            return value;
        }

        private void skipBlanks() {
            while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
        }

        private Map<String, Object> readObject(int depth) {
            Map<String, Object> members = new LinkedHashMap<>();
            for (boolean isFirst = true; hasMore(isFirst, '}'); isFirst = false) {
                skipBlanks();
                String name = readText();
                skipBlanks();
                expect(':');
                members.put(name, readValue(depth + 1));
            }
            return members;
        }

        private List<Object> readList(int depth) {
            List<Object> items = new ArrayList<>();
            for (boolean isFirst = true; hasMore(isFirst, ']'); isFirst = false) items.add(readValue(depth + 1));
            return items;
        }

        /** Moves behind the bracket that opens, or behind the comma; false at the bracket that closes. */
        private boolean hasMore(boolean isFirst, char end) {
            char separator = text.charAt(at++);
            if (!isFirst && separator == end) return false;
            if (!isFirst && separator != ',') throw new IllegalArgumentException("no comma");
            skipBlanks();
            if (!isFirst || text.charAt(at) != end) return true;
            at++;
            return false;
        }

        private void expect(char wanted) {
            if (text.charAt(at++) != wanted) throw new IllegalArgumentException("no " + wanted);
        }

        private String readText() {
            expect('"');
            StringBuilder read = new StringBuilder();
            for (char next = text.charAt(at++); next != '"'; next = text.charAt(at++)) {
                if (next < ' ') throw new IllegalArgumentException("a control character");
                read.append(next == '\\' ? readEscape() : next);
            }
            return read.toString();
        }

        private char readEscape() {
            char escaped = text.charAt(at++);
            int plain = "\"\\/bfnrt".indexOf(escaped);
            if (plain >= 0) return "\"\\/\b\f\n\r\t".charAt(plain);
            String digits = text.substring(at, at + 4);
            if (escaped != 'u' || !digits.matches("[0-9a-fA-F]{4}")) throw new IllegalArgumentException("an unknown escape");
            at += 4;
            return (char) Integer.parseInt(digits, 16);
        }

        private Object readWord(String word, Object value) {
            if (!text.startsWith(word, at)) throw new IllegalArgumentException("an unknown word");
            at += word.length();
            return value;
        }

        private Double readNumber() {
            Matcher number = NUMBER.matcher(text).region(at, text.length());
            if (!number.lookingAt()) throw new IllegalArgumentException("no value");
            at = number.end();
            return Double.valueOf(number.group());
        }

        static String write(Object value) {
            StringBuilder written = new StringBuilder();
            write(value, written);
            return written.toString();
        }

        private static void write(Object value, StringBuilder to) {
            if (value instanceof Map<?, ?> map) {
                writeAll(map.entrySet(), '{', '}', to);
            } else if (value instanceof Map.Entry<?, ?> member) {
                writeText((String) member.getKey(), to);
                write(member.getValue(), to.append(':'));
            } else if (value instanceof Collection<?> items) {
                writeAll(items, '[', ']', to);
            } else if (value instanceof String text) {
                writeText(text, to);
            } else if (value instanceof Double number && number == Math.rint(number) && Math.abs(number) < 1e15) {
                to.append(number.longValue());
            } else {
                to.append(value instanceof Double number && !Double.isFinite(number) ? null : value);
            }
        }

        private static void writeAll(Collection<?> items, char begin, char end, StringBuilder to) {
            char separator = begin;
            for (Object each : items) {
                write(each, to.append(separator));
                separator = ',';
            }
            to.append(items.isEmpty() ? String.valueOf(begin) : "").append(end);
        }

        /** Also escapes half characters, which UTF-8 cannot express. */
        private static void writeText(String text, StringBuilder to) {
            to.append('"');
            for (char each : text.toCharArray()) {
                if (each == '"' || each == '\\') to.append('\\').append(each);
                else if (each < ' ' || Character.isSurrogate(each)) to.append(String.format("\\u%04x", (int) each));
                else to.append(each);
            }
            to.append('"');
        }
    }
}
