/** What braces do not count in: comments and strings, long ones first (`--[==[ … ]==]`, `[[ … ]]`). */
const SKIPPED =
  /--\[(?<comment>=*)\[[^]*?\]\k<comment>\]|--[^\n]*|\[(?<string>=*)\[[^]*?\]\k<string>\]|"[^"\\\n]*(?:\\[^][^"\\\n]*)*"|'[^'\\\n]*(?:\\[^][^'\\\n]*)*'|[{}]/g;

/**
 * Finds where a block of Lua ends (`content_by_lua_block { … }`), in which strings and comments may hold braces.
 * @param start where its opening brace stands
 * @returns the offset after its closing brace; null when there is none
 */
export function findLuaEnd(text: string, start: number): number | null {
  SKIPPED.lastIndex = start;
  let depth = 0;
  for (;;) {
    const found = SKIPPED.exec(text);
    if (found === null) return null;
    if (found[0] === '{') depth += 1;
    if (found[0] === '}') depth -= 1;
    if (depth === 0) return SKIPPED.lastIndex;
  }
}
