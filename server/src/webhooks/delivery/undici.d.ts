/*
 * The parts of undici that deliveries need. The package itself also loads `fetch`, caches and mocks: 8 MB of memory and
 * 25 ms of every start.
 */
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
