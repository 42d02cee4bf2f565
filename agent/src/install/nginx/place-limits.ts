import type { NginxFile } from '../facts.ts';
import type { FileStep } from '../steps.ts';
import { limitPlaces } from './own-files.ts';
import { listNamed, readConfiguration } from './read-configuration.ts';
import { renderLimits } from './render.ts';
import { writeFile } from './write-file.ts';

/**
 * Plans the file that counts the connections of each client, which nginx takes outside of server blocks only.
 * @param others all files but ours
 * @returns null where nginx loads no directory that it may lie in: the agent limits viewers itself
 */
export function placeLimits(others: readonly NginxFile[]): FileStep | null {
  const text = renderLimits();
  const path = limitPlaces.find((each) => {
    const file = { path: each, realPath: each, text, isWritable: true };
    const http = listNamed(readConfiguration([...others, file]), 'http');
    return http.some(({ children }) => children.some((node) => node.file === file));
  });
  return path === undefined ? null : writeFile(path, text);
}
