// Runs before the first paint and before the page's own code.
(() => {
  // Setting a dark theme early avoids a flash.
  let choice = null;
  try {
    choice = localStorage.getItem('theme');
  } catch {
    // Storage is disabled: the theme of the system applies.
  }
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = choice === 'light' || choice === 'dark' ? choice : system;

  // If the server goes down before the code of the page has loaded, only this script can recover.
  addEventListener('error', recover, true);

  function recover({ target }) {
    if (!(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    const root = document.getElementById('root');
    if (root === null || root.childElementCount > 0) return;
    removeEventListener('error', recover, true);
    root.setAttribute('role', 'alert');
    root.textContent = 'The server cannot be reached. This page loads as soon as it responds.';
    // If something else blocks the code, the page must not reload all the time.
    const waitMs = Number(sessionStorage.getItem('reloadedAt') ?? 0) + 30_000 - Date.now();
    setTimeout(() => setInterval(reloadWhenReachable, 2000), Math.max(0, waitMs));
  }

  async function reloadWhenReachable() {
    const { ok } = await fetch('/health', { cache: 'no-store' }).catch(() => ({ ok: false }));
    if (!ok) return;
    sessionStorage.setItem('reloadedAt', String(Date.now()));
    location.reload();
  }
})();
