declare module '*.css';

/** The address of a worker that Vite built. */
declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
