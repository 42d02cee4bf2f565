import { PublicError } from '#server/errors.ts';

/** The answer to a program, in the words of the other system. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: PublicError['headers'];
}

/**
 * Answers a refusal in the words that programs read.
 * @param words the refusal of a key that no license has, and the body of any other refusal
 * @throws what is no refusal, such as a failure of the service
 */
export async function answerInWords(
  handle: () => Promise<Answer>,
  words: { readonly unknownKey: Answer; readonly toBody: (sentence: string) => Answer['body'] },
): Promise<Answer> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof PublicError) || error.status >= 500) throw error;
    if (error.code === 'license_not_found') return words.unknownKey;
    const { status, headers, detail } = error;
    return { status, headers, body: words.toBody(detail) };
  }
}
