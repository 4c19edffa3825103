import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
    globalIgnores(["dist", "src/api/schema.d.ts"]),
    js.configs.recommended,
    tseslint.configs.strictTypeChecked,
    tseslint.configs.stylisticTypeChecked,
    {
        languageOptions: {
            parserOptions: { projectService: { allowDefaultProject: ["*.js", "public/*.js"] } },
        },
    },
    {
        plugins: { "react-hooks": hooks },
        rules: {
            "react-hooks/rules-of-hooks": "error",
            "react-hooks/exhaustive-deps": "error",
            "@typescript-eslint/switch-exhaustiveness-check": "error",
            // Numbers are written into texts all over a page; their form is chosen where they are made.
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
            // One module talks HTTP.
            "no-restricted-globals": [
                "error",
                { name: "fetch", message: "Only src/api talks HTTP." },
                { name: "EventSource", message: "Only src/api talks HTTP." },
                { name: "XMLHttpRequest", message: "Only src/api talks HTTP." },
            ],
            eqeqeq: "error",
        },
    },
    { files: ["src/api/**"], rules: { "no-restricted-globals": "off" } },
    {
        files: ["public/*.js"],
        languageOptions: { globals: { document: "readonly", localStorage: "readonly" } },
    },
);
