/** Parts of the page that are loaded when they are needed, and what becomes of those that cannot. */

const KEY = "judge:reloaded";
const ONCE_PER_MS = 60_000;

/**
 * What a part's `import` yields; `otherwise` when it cannot be loaded.
 *
 * After a new version was put up, the names of the old one's files are gone: the page is loaded
 * anew, once. Drafts are kept, so nothing is lost by it.
 */
export async function loadedOr<Part>(part: Promise<Part>, otherwise: Part): Promise<Part> {
  try {
    return await part;
  } catch (error) {
    console.error(error);
    if (!navigator.onLine || !mayReload()) return otherwise;
    location.reload();
    return new Promise(() => undefined);
  }
}

function mayReload(): boolean {
  try {
    const last = Number(sessionStorage.getItem(KEY));
    sessionStorage.setItem(KEY, String(Date.now()));
    return Date.now() - last > ONCE_PER_MS;
  } catch {
    return false;
  }
}
