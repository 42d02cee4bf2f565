/** The npm packages that the bundled console contains; of the bundler, rolldown, some lines that load modules. */
export const CONSOLE_PACKAGES = [
  '@preact/signals',
  '@preact/signals-core',
  'lean-qr',
  'preact',
  'rolldown',
  'uplot',
];
