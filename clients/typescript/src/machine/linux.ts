/** The identity of Linux: the id of its installation (machine-id(5)), and the serial number of the board where it may be read. */

/** In this order. */
export const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'] as const;

/** Usually only root may read it. */
export const BOARD_SERIAL_FILE = '/sys/class/dmi/id/board_serial';

/** Reads a machine id: 32 hexadecimal digits; null for anything else, such as `uninitialized` of an image. */
export function readMachineIdFile(text: string): string | null {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : null;
}

/** What vendors of boards write instead of a number. */
const PLACEHOLDERS =
  /^(?:default string|to be filled by o\.e\.m\.?|not (?:specified|applicable|available)|none|n\/a|system serial number|board serial number|0+|x+|[-. ]*)$/i;

/** Reads a serial number of DMI; null for what vendors write instead. */
export function readDmiSerial(text: string): string | null {
  const serial = text.trim();
  return PLACEHOLDERS.test(serial) ? null : serial;
}
