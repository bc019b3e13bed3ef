"""What a repository contributes, and the walls around it: paths, sandbox, context files, skills, tools, hooks, servers."""
