/** The driver is native code, and the engine loads parts of itself late: neither can be bundled. */
export default { serverExternalPackages: ['@devs/core', '@devs/server', 'better-sqlite3'] };
