"""What a repository contributes (context, skills, templates, tools, hooks, servers), and the walls around it."""
