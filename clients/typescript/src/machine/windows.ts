/** The identity of Windows: a value of the registry that its installation creates. */

/** The program and its arguments. The full path, because a folder of the user may precede in PATH; /reg:64, because a 32-bit program would read another part. */
export function windowsCommand(systemRoot: string): readonly [string, ...string[]] {
  return [
    `${systemRoot}\\System32\\reg.exe`,
    'query',
    String.raw`HKLM\SOFTWARE\Microsoft\Cryptography`,
    '/v',
    'MachineGuid',
    '/reg:64',
  ];
}

/** Reads what `reg.exe query` prints, in any language of Windows; null without a value. */
export function readRegistryOutput(output: string): string | null {
  return (
    /^[ \t]*MachineGuid[ \t]+REG_SZ[ \t]+(?<guid>[\w{}-]+)[ \t]*\r?$/m.exec(output)?.groups?.[
      'guid'
    ] ?? null
  );
}
