package dev.latchkey;

/** Runs all tests: {@code sh test/run.sh}. */
final class Tests {
    public static void main(String[] arguments) {
        Suite suite = new Suite();
        Speed.addTo(suite);
        RulesTest.addTo(suite);
        FilesTest.addTo(suite);
        LateFileTest.addTo(suite);
        ClientTest.addTo(suite);
        FaultsTest.addTo(suite);
        System.exit(suite.finish() ? 0 : 1);
    }
}
