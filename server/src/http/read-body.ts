import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { payloadTooLarge, requestTimeout } from '#server/errors.ts';
import { noMemory } from './limit-load.ts';

/**
 * The minimum rate of a body: 1,200 bytes, or its rest, in five sweeps. Kestrel, the server of ASP.NET, requires the same
 * by default (`MinRequestBodyDataRate`: 240 bytes per second after five seconds). Sweeps are counted,
 * not seconds, so that a pause of this process does not count against clients.
 */
const MIN_PROGRESS_BYTES = 1_200;
const MAX_SWEEPS_WITHOUT_PROGRESS = 5;

/** Receives the body or an error. */
type Finish = (error: Error | null, body: Buffer) => void;

const NO_BODY = Buffer.alloc(0);

/**
 * Reads a request's body; memory is reserved as its bytes arrive. Calls `finish` once: with the whole body, or with
 * payloadTooLarge (413), overloaded (503), requestTimeout (408) when it makes no progress, or the error of its connection.
 * Unless all was read, Fastify closes the connection after the answer.
 */
export function readBody(request: FastifyRequest, payload: Readable, finish: Finish): void {
  const maxBytes = request.routeOptions.bodyLimit ?? 0;
  if (Number(request.headers['content-length']) > maxBytes) finish(payloadTooLarge(), NO_BODY);
  else new BodyReader(request, payload, maxBytes, finish).start();
}

class BodyReader {
  readonly #request: FastifyRequest;
  readonly #payload: Readable;
  readonly #maxBytes: number;
  readonly #finish: Finish;
  readonly #chunks: Buffer[] = [];
  #receivedBytes = 0;
  #checkedBytes = 0;
  #sweepsWithoutProgress = 0;

  constructor(request: FastifyRequest, payload: Readable, maxBytes: number, finish: Finish) {
    this.#request = request;
    this.#payload = payload;
    this.#maxBytes = maxBytes;
    this.#finish = finish;
  }

  start(): void {
    this.#request.load?.control.bodies.add(this);
    this.#payload.on('data', this.#receive).on('end', this.#complete).on('error', this.#fail);
    this.#payload.resume();
  }

  /** Ends the reading when too little arrived in the last sweeps. */
  check(): void {
    if (this.#receivedBytes - this.#checkedBytes >= MIN_PROGRESS_BYTES) {
      this.#checkedBytes = this.#receivedBytes;
      this.#sweepsWithoutProgress = 0;
    } else if (++this.#sweepsWithoutProgress >= MAX_SWEEPS_WITHOUT_PROGRESS) {
      this.#request.load?.control.monitor.recordLimited('body_progress');
      this.#fail(requestTimeout());
    }
  }

  readonly #receive = (chunk: Buffer): void => {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#maxBytes) {
      this.#fail(payloadTooLarge());
      return;
    }
    if (this.#request.load?.resize(this.#receivedBytes) === false) {
      this.#fail(noMemory());
      return;
    }
    this.#chunks.push(chunk);
  };

  readonly #complete = (): void => {
    this.#stop();
    const [only] = this.#chunks;
    const isWhole = only !== undefined && this.#chunks.length === 1;
    this.#finish(null, isWhole ? only : Buffer.concat(this.#chunks, this.#receivedBytes));
  };

  readonly #fail = (error: Error): void => {
    this.#stop();
    this.#finish(error, NO_BODY);
  };

  #stop(): void {
    this.#request.load?.control.bodies.delete(this);
    this.#payload.off('data', this.#receive).off('end', this.#complete).off('error', this.#fail);
  }
}
