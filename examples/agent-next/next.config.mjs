/**
 * The driver is native code, and the engine loads parts of itself late: neither can be bundled. LangChain stays outside with
 * them: messages of a second copy could not be stored.
 */
export default {
  serverExternalPackages: [
    '@devs/core',
    '@devs/server',
    '@langchain/core',
    '@langchain/langgraph',
    'better-sqlite3',
  ],
};
