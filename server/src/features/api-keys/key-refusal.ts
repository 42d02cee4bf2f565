/** Why an API key cannot be made or changed: a sentence for the operator, which never holds a key. */
export class ApiKeyRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ApiKeyRefusal';
  }
}

export function noSuchApiKey(): ApiKeyRefusal {
  return new ApiKeyRefusal('There is no such API key, or it is revoked.');
}

/** @param name what the key was to be called */
export function apiKeyNameTaken(name: string): ApiKeyRefusal {
  return new ApiKeyRefusal(
    `There is an API key ${JSON.stringify(name)} already: roll it, revoke it, or choose another name.`,
  );
}
