import type { DownloadedFile } from './api.ts';

/** Offers a file to the operator. */
export function saveFile({ name, content }: DownloadedFile): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Offers an answer to the operator as a file. */
export function saveJson(name: string, content: unknown): void {
  saveFile({ name, content: new Blob([JSON.stringify(content, null, 2)]) });
}
