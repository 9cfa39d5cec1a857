import { registerHooks } from 'node:module';

/**
 * Resolves `@switchboard/server/…` to this server, wherever the importing module is: the file of a connector may be in
 * any folder, and an `AppError` of another copy would not be recognized. Import this module for its side effect;
 * modules are evaluated once, so a process has one such hook.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier.startsWith('@switchboard/server/')
      ? next(specifier, { ...context, parentURL: import.meta.url })
      : next(specifier, context),
});
