/** Why an endpoint cannot be made or changed: a sentence for the operator, which never holds a secret. */
export class EndpointRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EndpointRefusal';
  }
}

export function noSuchEndpoint(): EndpointRefusal {
  return new EndpointRefusal('There is no such endpoint: give its id or its URL.');
}
