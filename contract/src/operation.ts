/** Operations of the interface as values: the service serves them, the console calls them, the interface document describes them. */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

import type { ErrorCode } from './error-catalogue.ts';
import type { Permission } from './permissions.ts';

/** An operation of the operator interface. Without a shape, it takes nothing of that kind. */
export interface Operation {
  /** For generated clients: unique, a verb first. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1/admin/`, with parameters such as `:id`. */
  readonly path: string;
  /** A few words, beginning with a verb. */
  readonly summary: string;
  /** What the summary does not say; sentences. */
  readonly description?: string;
  /** `public`: part of signing in, for everybody. */
  readonly permission: Permission | 'public';
  readonly params?: TSchema | undefined;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Larger than that of other operations. */
  readonly maxBodyBytes?: number;
  /** With its description. */
  readonly response: TSchema;
  /** Default: 200. */
  readonly status?: 200 | 201 | 202;
  /** The errors that are particular to it. */
  readonly errors?: readonly ErrorCode[];
}

/** A file as a response: the type of its content is a stream in the service, and bytes in the console. */
export type FileResponse = TUnsafe<FileContent> & { readonly file: string };

/** Stands for the content of a file, which no schema describes. */
export interface FileContent {
  readonly isFile: true;
}

/** The response of an export. @param description what the lines are */
export function csvFile(description: string): FileResponse {
  return fileOf('text/csv', description);
}

/** The response of an export as a JSON document. @param description what it contains */
export function jsonFile(description: string): FileResponse {
  return fileOf('application/json', description);
}

/** The response of a page for a frame. @param description what it shows */
export function htmlFile(description: string): FileResponse {
  return fileOf('text/html', description);
}

function fileOf(file: string, description: string): FileResponse {
  return Object.assign(Type.Unsafe<FileContent>({ type: 'string', description }), { file });
}

type Shape = 'params' | 'query' | 'body';

/** The shapes that an operation takes. */
type Taken<Of extends Operation> = {
  [Part in Shape]: Of[Part] extends TSchema ? Part : never;
}[Shape];

/** What a call of an operation sends. */
export type InputOf<Of extends Operation> = {
  readonly [Part in Taken<Of>]: Of[Part] extends TSchema ? Static<Of[Part]> : never;
};

/** What an operation returns. */
export type OutputOf<Of extends Operation> = Static<Of['response']>;

/** What a caller without schemas needs to know: the console loads only this. */
export interface OperationAddress {
  readonly method: Operation['method'];
  readonly path: string;
  readonly permission: Operation['permission'];
}

/** Declares an operation. */
export function operation<const Of extends Operation>(declared: Of): Of {
  return declared;
}

/** Whether a value that a file of the contract exports is an operation. */
export function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'permission' in value && 'path' in value;
}
