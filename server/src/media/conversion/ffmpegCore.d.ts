/** The part of the package, which has no types, that `ffmpeg.ts` uses. */
declare module '@ffmpeg/core' {
  interface Core {
    /** Runs `ffmpeg` with arguments; returns its exit code. */
    exec(...args: string[]): number;
    ffprobe(...args: string[]): number;
    setLogger(logger: (entry: { readonly type: string; readonly message: string }) => void): void;
    /** A file system in memory. */
    readonly FS: {
      writeFile(path: string, content: Uint8Array): void;
      readFile(path: string): Uint8Array;
    };
  }
  const createCore: (options: {
    /** Instantiates the WebAssembly module and passes it on. @returns the exports */
    readonly instantiateWasm: (
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) => object;
  }) => Promise<Core>;
  export default createCore;
}
