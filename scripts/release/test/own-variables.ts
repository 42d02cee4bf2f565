/** The variables of this process without those of the npm that started it; the registry is that of the user. */
export function ownVariables(): NodeJS.ProcessEnv {
  const foreign =
    /^(?:npm_(?:lifecycle|package|command|execpath|node_execpath|config_local_prefix)|INIT_CWD|NODE_OPTIONS|LATCHKEY_|DATABASE_URL)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
