import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { thrownCode } from '../thrown.ts';

/*
 * Resolves the imports of connectors. Import this module for its side effect; modules are evaluated once, so a process
 * has one such hook.
 *
 * - `switchboard/errors` is this server, wherever the importing module is: the file of a connector may be in any
 *   folder.
 * - A package in `CONNECTORS` is looked up beside the server, and then in the working directory: `npx` keeps the server
 *   in a folder of its own.
 */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.')); // `.ts`, or `.js` in the package
const ERRORS = new URL(`../errors${extension}`, import.meta.url).href;
const REGISTRY = new URL(`./registry${extension}`, import.meta.url).href;
const WORKING_DIRECTORY = pathToFileURL(`${process.cwd()}/`).href;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'switchboard/errors') return { url: ERRORS, shortCircuit: true };
    if (context.parentURL !== REGISTRY) return next(specifier, context);
    try {
      return next(specifier, context);
    } catch (error) {
      if (thrownCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
      return next(specifier, { ...context, parentURL: WORKING_DIRECTORY });
    }
  },
});
