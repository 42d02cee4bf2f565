/** Why a license cannot be changed by hand as it was asked: a sentence for the operator. */
export class LicenseRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LicenseRefusal';
  }
}

export function trialMustEnd(): LicenseRefusal {
  return new LicenseRefusal('A trial always has an end: give it a date, or issue a license.');
}
